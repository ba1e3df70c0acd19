import { Problem, unreachable } from './problem.ts'

/** Sends a file as it is, which the typed client would make a form of. */
export async function putPicture(path: string, file: File): Promise<void> {
  let response: Response
  try {
    response = await fetch(path, { method: 'PUT', headers: { 'content-type': file.type }, body: file })
  } catch {
    throw unreachable()
  }
  if (!response.ok) throw Problem.of(response, await response.json().catch(() => null))
}
