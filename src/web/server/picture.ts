import { Problem, unreachable } from './problem.ts'

/** Uploads a file as the raw body; the typed client would send a form. */
export async function putPicture(path: string, file: File): Promise<void> {
  let response: Response
  try {
    response = await fetch(path, { method: 'PUT', headers: { 'content-type': file.type }, body: file })
  } catch {
    throw unreachable()
  }
  if (!response.ok) throw Problem.of(response, await response.json().catch(() => null))
}
