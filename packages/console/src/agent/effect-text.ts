/** The effects of a configuration change, in one line. */
import type { ConfigEffects } from '../api/admin.ts'

export function effectsText({ added, changed, removed, restart }: ConfigEffects): string {
  const lines = [
    ...(added.length > 0 ? [`${added.join(', ')} added`] : []),
    ...(changed.length > 0 ? [`${changed.join(', ')} changed`] : []),
    ...(removed.length > 0 ? [`${removed.join(', ')} removed`] : []),
    ...(restart.length > 0 ? [`${restart.join(', ')} takes effect after a restart`] : []),
  ]
  return lines.length === 0 ? 'No changes' : lines.join('; ')
}
