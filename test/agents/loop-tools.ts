/** Functions for the loop under test. They report to the test what they do and receive. */
import { toolProbe } from './loop-tool-probes.ts'
import type { FunctionCall, FunctionTool } from '../../packages/hub/src/agents/loop/function-tools.ts'

interface ProbeInput {
  readonly probe: string
}

const input = { type: 'object', properties: { probe: { type: 'string' } }, required: ['probe'] }

export const tools: Readonly<Record<string, FunctionTool>> = {
  note: {
    description: 'Notes that it was run',
    input,
    run({ probe }: ProbeInput) {
      toolProbe(probe).calls.push('note')
      return 'noted'
    },
  },
  wait_for_gate: {
    description: 'Waits until it is let go',
    input,
    async run({ probe }: ProbeInput, { signal }: FunctionCall) {
      const { calls, release, started, stopped } = toolProbe(probe)
      calls.push('wait')
      started.resolve()
      signal.addEventListener('abort', () => stopped.resolve())
      await Promise.race([release.promise, stopped.promise])
      signal.throwIfAborted()
      return 'the gate is open'
    },
  },
}
