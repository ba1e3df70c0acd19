/**
 * Hooks of Elysia for every request. Elysia reads their source text: for one that passes its context on, it prepares all
 * headers, cookies and parameters as objects, and waits for one that returns what a function has returned. These need
 * nothing but the request, and their text has no parameter that Elysia could follow.
 */

type Hook<Context, Result> = (context: Context) => Result

/** A hook whose result matters. */
export function plainHook<Context, Result>(run: Hook<Context, Result>): Hook<Context, Result> {
  return function () {
    // biome-ignore lint/complexity/noArguments: a parameter would be read
    return run(arguments[0])
  } as Hook<Context, Result>
}

/** A hook that returns nothing, and at once. */
export function plainEffect<Context>(run: Hook<Context, void>): Hook<Context, void> {
  return function () {
    // biome-ignore lint/complexity/noArguments: as above
    run(arguments[0])
  } as Hook<Context, void>
}
