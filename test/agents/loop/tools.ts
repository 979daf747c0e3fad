/** Functions for the loop under test. What they do and see is told whoever has the desk. */
import type { FunctionCall, FunctionTool } from '../../../packages/hub/src/agents/loop/tools/functions.ts'

/** Where a test watches its tools, and holds them up. By the name of a desk, which the model says. */
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

interface AtDesk {
  readonly desk: string
}

const input = { type: 'object', properties: { desk: { type: 'string' } }, required: ['desk'] }

export const tools: Readonly<Record<string, FunctionTool>> = {
  note: {
    description: 'Notes that it was run',
    input,
    run({ desk }: AtDesk) {
      deskOf(desk).ran.push('note')
      return 'noted'
    },
  },
  wait_for_gate: {
    description: 'Waits until it is let go',
    input,
    async run({ desk }: AtDesk, { signal }: FunctionCall) {
      const { ran, gate, begun, stopped } = deskOf(desk)
      ran.push('wait')
      begun.resolve()
      signal.addEventListener('abort', () => stopped.resolve())
      await Promise.race([gate.promise, stopped.promise])
      signal.throwIfAborted()
      return 'the gate is open'
    },
  },
}
