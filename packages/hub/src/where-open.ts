/** Nothing new is taken for an agent that is not there. */
import { A2AError } from '@parley/a2a'
import type { Admit } from '@parley/a2a/server'

/** New work for an agent that is not open is refused; after the rest, so that only who may use it learns of its trouble. */
export function whereOpen(requireOpen: (agent: string) => void, admit: Admit): Admit {
  return async (asking) => {
    const admission = await admit(asking)
    const isNew = asking.operation === 'SendMessage' || asking.operation === 'SendStreamingMessage'
    if (admission.refuse !== undefined || !isNew) return admission
    try {
      requireOpen(asking.agent)
      return admission
    } catch (reason) {
      return { ...admission, refuse: A2AError.from(reason) }
    }
  }
}
