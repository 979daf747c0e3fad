/** The effects of a configuration change, in one line. */
import type { ConfigEffects } from '../api/admin.ts'
import { agentStrings } from './strings.ts'

export function effectsText({ added, changed, removed, restart }: ConfigEffects): string {
  const words = agentStrings.effects
  const lines = [
    ...(added.length > 0 ? [words.added(added.join(', '))] : []),
    ...(changed.length > 0 ? [words.changed(changed.join(', '))] : []),
    ...(removed.length > 0 ? [words.removed(removed.join(', '))] : []),
    ...(restart.length > 0 ? [words.restart(restart.join(', '))] : []),
  ]
  return lines.length === 0 ? words.none : lines.join('; ')
}
