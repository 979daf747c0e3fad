/** An agent that tells how long the longest body of a web Request in its process was. */
let longest = 0

globalThis.Request = new Proxy(Request, {
  construct(target, [input, init]: [string, RequestInit | undefined]) {
    const { body } = init ?? {}
    if (body instanceof Uint8Array) longest = Math.max(longest, body.length)
    return new target(input, init)
  },
})

export const agent = (): string => `The longest body had ${longest} bytes`
