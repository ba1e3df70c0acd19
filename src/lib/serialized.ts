/**
 * A result whose JSON exists already and is passed on to the byte: it was serialized elsewhere, such as off the main thread,
 * or parsing it would lose digits.
 */
export class Serialized {
  /**
   * @param id of what it is about, from which its address follows
   * @param encoding of the bytes, if they are compressed as the client accepts
   */
  constructor(
    readonly json: string | Uint8Array<ArrayBuffer>,
    readonly id?: string,
    readonly encoding?: string,
  ) {}

  get text(): string {
    return typeof this.json === 'string' ? this.json : new TextDecoder().decode(this.json)
  }
}

/** Typed as its content, which is what callers receive. */
export function serialized<Content extends object>(...given: ConstructorParameters<typeof Serialized>): Content {
  return new Serialized(...given) as unknown as Content
}
