// The page's elements. Content is described by values and patched into the page: retained elements
// keep their identity, so that a press, a selection, the focus and expanded details survive every
// update.

type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Spec describes an element. */
export interface Spec {
  readonly tag: keyof HTMLElementTagNameMap;
  readonly attributes: Attributes;
  readonly children: readonly Child[];
  /** identifies it among its siblings; the default is its position */
  readonly key?: string | undefined;
  readonly onClick?: (() => void) | undefined;
  /** the element is unchanged while this value is the same */
  readonly same?: unknown;
}

/** Picture is an immutable node, identified by its key. */
export interface Picture {
  readonly key: string;
  readonly make: () => Node;
}

export type Child = Spec | Picture | string;

/** Describes an element. Omits attributes that are false or undefined. */
export function h(tag: Spec['tag'], attributes: Attributes & { key?: string }, ...children: Child[]): Spec {
  const { key, ...rest } = attributes;
  return { tag, attributes: rest, children, key };
}

/** Describes a button. */
export function button(attributes: Attributes & { key?: string }, onClick: () => void, ...children: Child[]): Spec {
  return { ...h('button', { type: 'button', ...attributes }, ...children), onClick };
}

/** Creates an element for permanent parts of the page. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

const keys = new WeakMap<Node, string>();
const attributesOf = new WeakMap<Node, Attributes>();
const actions = new WeakMap<Node, () => void>();
const sames = new WeakMap<Node, unknown>();

/** Creates the described node, or patches an existing one. */
export function render(spec: Spec, node: HTMLElement = make(spec) as HTMLElement): HTMLElement {
  update(node, spec);
  return node;
}

/** Patches the children of a node to match the description. */
export function patch(parent: Element, children: readonly Child[]): void {
  const keyed = new Map<string, ChildNode>();
  const wanted = new Set(children.map(keyOf));
  for (const node of [...parent.childNodes]) {
    const key = keys.get(node);
    if (key !== undefined && !wanted.has(key)) {
      node.remove(); // first, because moving the retained nodes would take their focus
    } else if (key !== undefined) {
      keyed.set(key, node);
    }
  }
  let at = parent.firstChild;
  for (const child of children) {
    const key = keyOf(child);
    const node = (key === undefined ? fits(at, child) : keyed.get(key)) ?? make(child);
    if (node === at) {
      at = at.nextSibling;
    } else {
      parent.insertBefore(node, at);
    }
    update(node, child);
  }
  while (at !== null) {
    const next: ChildNode | null = at.nextSibling;
    at.remove();
    at = next;
  }
}

function keyOf(child: Child): string | undefined {
  return typeof child === 'string' ? undefined : child.key;
}

/** The node at an index, if it can be patched to match the description. */
function fits(node: ChildNode | null, child: Child): ChildNode | undefined {
  if (node === null || keys.has(node)) {
    return undefined;
  }
  if (typeof child === 'string') {
    return node.nodeType === Node.TEXT_NODE ? node : undefined;
  }
  return 'tag' in child && node.nodeName.toLowerCase() === child.tag ? node : undefined;
}

function make(child: Child): ChildNode {
  if (typeof child === 'string') {
    return document.createTextNode(child);
  }
  const node = 'tag' in child ? document.createElement(child.tag) : (child.make() as ChildNode);
  if (child.key !== undefined) {
    keys.set(node, child.key);
  }
  return node;
}

function update(node: ChildNode, child: Child): void {
  if (typeof child === 'string') {
    setData(node as Text, child);
  } else if ('tag' in child) {
    const element = node as HTMLElement;
    if (child.same !== undefined && sames.get(element) === child.same) {
      return;
    }
    sames.set(element, child.same);
    setAttributes(element, child.attributes);
    if (child.onClick !== undefined) {
      if (!actions.has(element)) {
        element.addEventListener('click', () => element.getAttribute('aria-disabled') !== 'true' && actions.get(element)?.());
      }
      actions.set(element, child.onClick);
    }
    patch(element, child.children);
  }
}

/** Changes only the differing part of a text, so that a selection elsewhere keeps its position. */
function setData(node: Text, text: string): void {
  const old = node.data;
  if (old === text) {
    return;
  }
  let from = 0;
  while (from < old.length && from < text.length && old[from] === text[from]) {
    from++;
  }
  let same = 0;
  while (same < old.length - from && same < text.length - from && old[old.length - 1 - same] === text[text.length - 1 - same]) {
    same++;
  }
  node.replaceData(from, old.length - from - same, text.slice(from, text.length - same));
}

/** Sets the attributes, and removes those set last time. Attributes set by others, such as open, stay. */
function setAttributes(node: Element, attributes: Attributes): void {
  const before = attributesOf.get(node) ?? {};
  for (const name of Object.keys({ ...before, ...attributes })) {
    const value = attributes[name];
    setAttribute(node, name, value === true ? '' : value === false ? undefined : value);
  }
  attributesOf.set(node, attributes);
}

/** Sets a text only if it changes, because a live region would announce it again. */
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

/** How long an element that replaced another one ignores presses, in milliseconds, because they were meant for the other one. */
export const ARMING = 400;

/** Disables a new button for a moment. */
export function arm(node: Element): void {
  setAttribute(node, 'aria-disabled', 'true');
  setTimeout(() => setAttribute(node, 'aria-disabled', undefined), ARMING);
}
