/** Members of Bun's Worker that browsers lack: the server's files are type-checked here for the types of its routes. */
interface Worker {
  unref(): void
  ref(): void
}
