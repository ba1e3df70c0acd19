/**
 * A result whose JSON exists already and is passed on to the byte: it was serialized elsewhere, such as off the main thread,
 * or parsing it would lose digits.
 */
export class Serialized {
  /** @param id of what it is about, from which its address follows */
  constructor(
    readonly json: string | Uint8Array<ArrayBuffer>,
    readonly id?: string,
  ) {}

  get text(): string {
    return typeof this.json === 'string' ? this.json : new TextDecoder().decode(this.json)
  }
}

/** Typed as its content, which is what callers receive. */
export function serialized<Content extends object>(json: Serialized['json'], id?: string): Content {
  return new Serialized(json, id) as unknown as Content
}
