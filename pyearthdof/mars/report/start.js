// What runs when the page is open.
{
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const model = read("model-json");
  const page = read("page-json");
  if (page !== null) pyearthdofExplorer(document, model, page);
  document.getElementById("save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([document.getElementById("model-json").textContent],
      { type: "application/json" }));
    link.download = "model.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
