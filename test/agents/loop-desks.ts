/**
 * Where a test watches its tools, and holds them up: by the name of a desk, which the model says. Apart from the tools, which are
 * loaded anew by whoever opens them.
 */
export interface Desk {
  readonly ran: string[]
  readonly gate: PromiseWithResolvers<void>
  readonly begun: PromiseWithResolvers<void>
  readonly stopped: PromiseWithResolvers<void>
}

const desks = new Map<string, Desk>()

export function deskOf(name: string): Desk {
  const known = desks.get(name)
  const desk = known ?? {
    ran: [],
    gate: Promise.withResolvers<void>(),
    begun: Promise.withResolvers<void>(),
    stopped: Promise.withResolvers<void>(),
  }
  if (known === undefined) desks.set(name, desk)
  return desk
}
