/** Answers with what it knows of the way by which it was asked. */
import type { Turn } from '@parley/a2a'

export default ({ provenance, caller, task, message }: Turn): string =>
  JSON.stringify({
    chain: provenance ?? null,
    scopes: caller.scopes ?? null,
    deadlineAt: task.deadlineAt ?? null,
    metadata: message.metadata ?? null,
  })
