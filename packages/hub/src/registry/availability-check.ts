/** Refuses new work for an agent that is not open. */
import { A2AError } from '@parley/a2a'
import type { Admit } from '@parley/a2a/server'

/** Checked after authorization, so that only permitted callers learn that the agent is unavailable. */
export function withAvailabilityCheck(requireOpen: (agent: string) => void, admit: Admit): Admit {
  return async (request) => {
    const admission = await admit(request)
    const isNew = request.operation === 'SendMessage' || request.operation === 'SendStreamingMessage'
    if (admission.refuse !== undefined || !isNew) return admission
    try {
      requireOpen(request.agent)
      return admission
    } catch (reason) {
      return { ...admission, refuse: A2AError.from(reason) }
    }
  }
}
