/** Functions for the loop under test. They report what they do and see to the test. */
import { toolProbe } from './loop-tool-probes.ts'
import type { FunctionCall, FunctionTool } from '../../packages/hub/src/agents/loop/function-tools.ts'

interface ProbeInput {
  readonly desk: string
}

const input = { type: 'object', properties: { desk: { type: 'string' } }, required: ['desk'] }

export const tools: Readonly<Record<string, FunctionTool>> = {
  note: {
    description: 'Notes that it was run',
    input,
    run({ desk }: ProbeInput) {
      toolProbe(desk).calls.push('note')
      return 'noted'
    },
  },
  wait_for_gate: {
    description: 'Waits until it is let go',
    input,
    async run({ desk }: ProbeInput, { signal }: FunctionCall) {
      const { calls, release, started, stopped } = toolProbe(desk)
      calls.push('wait')
      started.resolve()
      signal.addEventListener('abort', () => stopped.resolve())
      await Promise.race([release.promise, stopped.promise])
      signal.throwIfAborted()
      return 'the gate is open'
    },
  },
}
