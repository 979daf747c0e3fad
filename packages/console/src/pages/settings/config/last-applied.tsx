/** The effects of the last applied change, until dismissed; above all what needs a restart. */
import { signal } from '@preact/signals'
import type { ConfigEffects } from '../../../api/admin.ts'
import { EffectsList } from '../../../components/config-effects/effects-list.tsx'
import { Icon } from '../../../components/icon.tsx'

const lastEffects = signal<ConfigEffects | undefined>(undefined)

export function setLastApplied(effects: ConfigEffects): void {
  lastEffects.value = effects
}

export function LastApplied() {
  const effects = lastEffects.value
  if (effects === undefined) return null
  return (
    <section class="config-applied panel" aria-label="Applied">
      <div class="grow">
        <h2>Applied</h2>
        <EffectsList effects={effects} />
      </div>
      <button type="button" class="plain icon" aria-label="Dismiss" onClick={() => (lastEffects.value = undefined)}>
        <Icon name="close" />
      </button>
    </section>
  )
}
