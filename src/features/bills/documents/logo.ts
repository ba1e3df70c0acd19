/** The organization's logo on its documents: PNG or JPEG. */
export interface Logo {
  bytes: Uint8Array
  type: string
}
