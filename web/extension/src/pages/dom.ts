/** Building pages from elements and text. Text is never parsed as HTML, so nothing from outside can become markup. */

type Child = Node | string | null;
type Value = string | number | boolean | null | ((event: Event) => void);

/** An element with attributes (`onclick` and the like are listeners; null and false are left out) and children. */
export function element<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[T] {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(created, name, value);
  created.append(...present(children));
  return created;
}

/** A drawing, for what has no element in HTML. */
export function drawing(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: Node[]
): SVGElement {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, String(value));
  created.append(...children);
  return created;
}

/** Replaces everything in an element. */
export function show(parent: Element, ...children: readonly Child[]): void {
  parent.replaceChildren(...present(children));
}

function set(target: Element, name: string, value: Value): void {
  if (typeof value === "function") target.addEventListener(name.slice(2), value);
  else if (value !== null && value !== false) target.setAttribute(name, value === true ? "" : String(value));
}

function present(children: readonly Child[]): (Node | string)[] {
  return children.filter((child) => child !== null);
}
