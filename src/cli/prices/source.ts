/** Reads a price table for a command, with its progress. */
import type { TableFile } from '../../features/prices/service.ts'
import { Progress } from '../terminal/progress.ts'
import { priceService } from './text.ts'

/** Calls `read` with a progress display for the download. */
export async function withProgress<Result>(
  read: (onProgress: (bytes: number, total: number | undefined) => void) => Promise<Result>,
): Promise<Result> {
  const progress = new Progress('Downloading')
  try {
    return await read((bytes, total) => progress.show(bytes, total))
  } finally {
    progress.end()
  }
}

/** A file, an address, or `-` for standard input. */
export async function readPriceTable(place: string): Promise<TableFile> {
  const { readTableFile } = await priceService()
  return withProgress((onProgress) => readTableFile(place, { onProgress }))
}
