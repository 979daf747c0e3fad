/** Answers with the delegation chain that it knows. */
import type { Turn } from '@parley/a2a'

export default ({ provenance, caller, task, message }: Turn): string =>
  JSON.stringify({
    chain: provenance ?? null,
    scopes: caller.scopes ?? null,
    deadlineAt: task.deadlineAt ?? null,
    metadata: message.metadata ?? null,
  })
