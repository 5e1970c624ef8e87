/** Building pages from elements and text. Text is never parsed as HTML, so nothing from outside can become markup. */

type Child = Node | string | null;
type Value = string | number | boolean | null | ((event: Event) => void);

/** An element with attributes (`onclick` and the like are listeners; null and false are left out) and children. */
export function element<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[T] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(made, name, value);
  made.append(...present(children));
  return made;
}

/** A drawing, for what has no element in HTML. */
export function drawing(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: Node[]
): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** Replaces everything in an element. */
export function show(parent: Element, ...children: readonly Child[]): void {
  parent.replaceChildren(...present(children));
}

function set(made: Element, name: string, value: Value): void {
  if (typeof value === "function") made.addEventListener(name.slice(2), value);
  else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : String(value));
}

function present(children: readonly Child[]): (Node | string)[] {
  return children.filter((child) => child !== null);
}
