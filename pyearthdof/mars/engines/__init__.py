"""Engines that fit MARS: R's earth and the native one."""
