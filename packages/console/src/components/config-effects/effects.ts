/** The effects of applying a configuration as text, before and after. */
import type { ConfigEffects } from '../../api/admin.ts'

/** A word for the badge, and the rest of the sentence. */
const effectTexts = {
  added: ['added', 'can be called immediately.'],
  changed: ['changed', 'new messages use the new settings. Running tasks finish with the old ones.'],
  removed: ['removed', 'new messages are rejected. Running tasks finish, and tasks are kept.'],
  applied: ['now', 'takes effect immediately.'],
  restart: ['restart', 'takes effect after the hub restarts.'],
  none: ['none', 'No effect: only comments or formatting changed.'],
} as const

export interface ConfigEffectText {
  readonly id: keyof ConfigEffects | 'none'
  readonly word: string
  /** Agents or sections; separate, because agents have pages to link to. */
  readonly names: readonly string[]
  readonly text: string
}

export function describeEffects({
  added,
  changed,
  removed,
  applied,
  restart,
}: ConfigEffects): readonly ConfigEffectText[] {
  const all: readonly ConfigEffectText[] = [
    effectText('added', added),
    effectText('changed', changed),
    effectText('removed', removed),
    effectText('applied', applied),
    effectText('restart', restart),
  ]
  const found = all.filter(({ names }) => names.length > 0)
  return found.length > 0 ? found : [effectText('none', [])]
}

function effectText(id: ConfigEffectText['id'], names: readonly string[]): ConfigEffectText {
  const [word, text] = effectTexts[id]
  return { id, word, names, text }
}

/** In one line, for screen readers. */
export function effectsSummary(effects: ConfigEffects): string {
  return describeEffects(effects)
    .map(({ id, word, names, text }) => (id === 'none' ? text : `${word}: ${names.join(', ')}`))
    .join('; ')
}
