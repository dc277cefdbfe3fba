"""The compose file: three services, guarded alike, and Jupyter for this machine only."""

import pytest
import yaml

from tests.support import ROOT

SERVICES = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]


def test_the_services():
    assert set(SERVICES) == {"reproduce", "test", "notebook"}


@pytest.mark.parametrize("name", SERVICES)
def test_guarded(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"] == "${PYEARTHDOF_USER:-1000:1000}"
    assert "privileged" not in service
    assert "network_mode" not in service


@pytest.mark.parametrize("name", SERVICES)
def test_built_from_a_stage_that_exists(name):
    build = SERVICES[name]["build"]
    context = (ROOT / "docker" / build["context"]).resolve()
    assert context == ROOT
    assert f" AS {build['target']}\n" in (context / build["dockerfile"]).read_text()


def test_only_the_notebook_has_a_port_and_only_on_loopback():
    ports = {name: service.get("ports", []) for name, service in SERVICES.items()}
    assert ports["reproduce"] == ports["test"] == []
    assert ports["notebook"]
    assert all(str(port).startswith("127.0.0.1:") for port in ports["notebook"])


@pytest.mark.parametrize("name", ["reproduce", "notebook"])
def test_results_end_up_in_the_checkout(name):
    (mount,) = SERVICES[name]["volumes"]
    assert mount["target"] == "/results"
    assert mount["bind"]["create_host_path"] is False
    assert (ROOT / "docker" / mount["source"]).resolve() == ROOT / "results"
