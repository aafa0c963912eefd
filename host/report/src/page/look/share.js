// Copies a chart as a picture, with its title, in the colours that are on the screen; and the address at which it stands.
const sharer = ({ say, address }) => {
  const sharpness = 2, margin = 16, head = 44;

  const drawing = svg => {
    const page = getComputedStyle(document.documentElement);
    const copy = svg.cloneNode(true);
    for (const name of ["--ground", "--ink", "--ink-soft", "--grid", "--chart-font"]) copy.style.setProperty(name, page.getPropertyValue(name));
    copy.style.color = page.getPropertyValue("--ink");
    for (const mark of copy.querySelectorAll(".mark.off")) mark.style.opacity = ".08";
    return "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
  };

  const picture = async figure => {
    const svg = figure.querySelector(".plot svg"), page = getComputedStyle(document.documentElement);
    const [wide, high] = ["width", "height"].map(name => Number(svg.getAttribute(name)));
    const image = new Image();
    image.src = drawing(svg);
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = sharpness * wide;
    canvas.height = sharpness * (high + head);
    const paper = canvas.getContext("2d");
    paper.scale(sharpness, sharpness);
    paper.fillStyle = page.getPropertyValue("--ground");
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.fillStyle = page.getPropertyValue("--ink");
    paper.font = `600 18px ${page.getPropertyValue("--sans")}`;
    paper.fillText(figure.querySelector("h3").textContent, margin, 30, wide - 2 * margin);
    paper.drawImage(image, 0, head, wide, high);
    return new Promise(done => canvas.toBlob(done, "image/png"));
  };

  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  // A browser may keep the clipboard to itself: then the picture is saved.
  const copy = async figure => {
    const blob = await picture(figure);
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
      return say("copied", {});
    } catch {
      save(blob, `${figure.id}.png`);
      return say("saved", { name: `${figure.id}.png` });
    }
  };
  const link = async figure => {
    history.replaceState(null, "", address(figure.id));
    try {
      await navigator.clipboard.writeText(location.href);
      return say("copied", {});
    } catch {
      return say("in_address", {});
    }
  };

  for (const figure of document.querySelectorAll("figure:has(.plot)")) {
    const told = figure.querySelector(".share [role=status]");
    const does = act => async event => {
      event.preventDefault();
      event.stopPropagation();
      told.textContent = await act(figure);
    };
    figure.querySelector(".share button").onclick = does(copy);
    figure.querySelector(".share a").onclick = does(link);
  }
  return { picture, save };
};
