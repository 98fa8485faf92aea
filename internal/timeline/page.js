"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const scroll = $("scroll"), chart = $("chart"), tip = $("tip"), cursor = $("cursor"), ticks = $("ticks");
  const length = parseFloat(chart.style.getPropertyValue("--len"));
  const label = () => ticks.parentElement.firstElementChild.offsetWidth;
  const fit = () => Math.max((scroll.clientWidth - label() - 2) / length, 0.5);
  let zoom = 0;

  const clock = (t, digits) => {
    const whole = t.toFixed(digits), minutes = Math.floor(whole / 60), rest = (whole - minutes * 60).toFixed(digits);
    return minutes + ":" + (rest < 10 ? "0" : "") + rest;
  };

  // Ticks of the axis, only for the visible part.
  const drawTicks = () => {
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 600].find((s) => s * zoom >= 70) || 3600;
    const digits = step < 0.1 ? 2 : step < 1 ? 1 : 0;
    const from = Math.floor(scroll.scrollLeft / zoom / step), to = Math.min((scroll.scrollLeft + scroll.clientWidth) / zoom, length) / step;
    ticks.replaceChildren();
    for (let n = from; n <= to; n++) {
      const mark = ticks.appendChild(document.createElement("span"));
      mark.style.setProperty("--t", n * step);
      mark.textContent = clock(n * step, digits);
    }
  };

  // Zooming keeps the point at x (pixels from the left of the axis) in place.
  const zoomTo = (z, x = (scroll.clientWidth - label()) / 2) => {
    const t = zoom ? (scroll.scrollLeft + x) / zoom : 0;
    zoom = Math.min(Math.max(z, Math.min(fit(), 20)), 2000);
    chart.style.setProperty("--z", zoom);
    scroll.scrollLeft = t * zoom - x;
    drawTicks();
  };
  const actions = { in: () => zoomTo(zoom * 1.5), out: () => zoomTo(zoom / 1.5), fit: () => zoomTo(fit()) };
  const keys = { "+": actions.in, "=": actions.in, "-": actions.out, "−": actions.out, "0": actions.fit };

  let shown = null;
  const show = (item) => {
    shown = item;
    tip.textContent = item.getAttribute("aria-label");
    tip.hidden = false;
    const box = item.getBoundingClientRect(), own = tip.getBoundingClientRect();
    tip.style.left = Math.min(Math.max(box.left, 8), innerWidth - own.width - 8) + "px";
    tip.style.top = (box.bottom + own.height + 12 < innerHeight ? box.bottom + 6 : Math.max(box.top - own.height - 6, 4)) + "px";
  };
  const hide = () => {
    shown = null;
    tip.hidden = true;
  };

  // One Tab stop per lane; the arrow keys move from there.
  for (const lane of chart.querySelectorAll(".lane")) {
    const first = lane.querySelector(".i");
    if (first) first.tabIndex = 0;
  }
  const move = (item, way) => {
    const all = [...item.closest(".lane").querySelectorAll(".i")];
    const start = (e) => parseFloat(e.style.getPropertyValue("--t"));
    all.sort((a, b) => start(a) - start(b));
    const next = all[all.indexOf(item) + way];
    if (!next) return;
    item.tabIndex = -1;
    next.tabIndex = 0;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
    show(next);
  };

  chart.addEventListener("pointerover", (e) => { const i = e.target.closest(".i"); if (i) show(i); else hide(); });
  chart.addEventListener("pointerleave", () => { hide(); cursor.hidden = true; });
  chart.addEventListener("focusin", (e) => { if (e.target.matches(".i:focus-visible")) show(e.target); });
  chart.addEventListener("focusout", hide);
  chart.addEventListener("pointermove", (e) => {
    const t = (e.clientX - ticks.getBoundingClientRect().left) / zoom;
    cursor.hidden = t < 0 || t > length;
    cursor.style.left = t * zoom + "px";
    cursor.firstElementChild.textContent = clock(Math.max(t, 0), 2);
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape") hide();
    if (keys[e.key]) keys[e.key]();
    const way = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (way && e.target.matches(".i")) {
      e.preventDefault();
      move(e.target, way);
    }
  });
  scroll.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.target.closest(".ruler")) return;
    e.preventDefault();
    zoomTo(zoom * Math.exp(-e.deltaY / 400), e.clientX - scroll.getBoundingClientRect().left - label());
  }, { passive: false });
  scroll.addEventListener("scroll", () => {
    if (shown) show(shown);
    requestAnimationFrame(drawTicks);
  });
  for (const b of document.querySelectorAll("[data-zoom]")) b.addEventListener("click", actions[b.dataset.zoom]);
  for (const e of document.querySelectorAll(".zoom, .hint")) e.hidden = false;
  // A short conversation fills the width; a long one starts at a readable scale.
  zoomTo(Math.max(fit(), 20), 0);
  addEventListener("resize", drawTicks);
})();
