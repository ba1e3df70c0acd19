/** The server's files are read for the types of its routes, and a worker of theirs can more than one of a browser. */
interface Worker {
  unref(): void
  ref(): void
}
