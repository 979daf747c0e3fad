/** What the last change came to, until it is put away: above all what only holds after a restart. */
import { signal } from '@preact/signals'
import type { ConfigEffects } from '../../../api/admin.ts'
import { Icon } from '../../../parts/icon.tsx'
import { EffectsList } from './effects-list.tsx'

const last = signal<ConfigEffects | undefined>(undefined)

export function noteApplied(effects: ConfigEffects): void {
  last.value = effects
}

export function LastApplied() {
  const effects = last.value
  if (effects === undefined) return null
  return (
    <section class="config-applied panel" aria-label="Applied">
      <div class="grow">
        <h2>Applied</h2>
        <EffectsList effects={effects} />
      </div>
      <button type="button" class="plain icon" aria-label="Put away" onClick={() => (last.value = undefined)}>
        <Icon name="close" />
      </button>
    </section>
  )
}
