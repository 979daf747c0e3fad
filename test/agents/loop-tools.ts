/** Functions for the loop under test. What they do and see is told whoever has the desk. */
import { deskOf } from './loop-desks.ts'
import type { FunctionCall, FunctionTool } from '../../packages/hub/src/agents/loop/tools/functions.ts'

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
