/** Reads responses of servers that are not trusted to end. */

/** The text of a response of up to this size. Throws if it has more, of which nothing is read. */
export async function textOf(response: Response, limitBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength
    if (length > limitBytes) {
      throw Object.assign(new Error(`The response has more than ${limitBytes} bytes.`), { code: 'EMSGSIZE' })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
