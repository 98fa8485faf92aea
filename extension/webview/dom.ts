// Small helpers over the page's elements.

type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Makes an element. Attributes that are false or undefined are left out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? '' : value);
    }
  }
  node.append(...children);
  return node;
}

/** Sets a text only where it changes: a live region would say it again. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

export function setAttribute(node: Element, name: string, value: string | undefined): void {
  if (value === undefined) {
    node.removeAttribute(name);
  } else if (node.getAttribute(name) !== value) {
    node.setAttribute(name, value);
  }
}

/** Shows or hides. */
export function show(node: HTMLElement, shown: boolean): void {
  if (node.hidden === shown) {
    node.hidden = !shown;
  }
}

/** Puts children in place only when key changes; says whether it did. */
export function replace(node: HTMLElement, key: string, make: () => (Node | string)[]): boolean {
  if (node.dataset['key'] === key) {
    return false;
  }
  node.dataset['key'] = key;
  node.replaceChildren(...make());
  return true;
}
