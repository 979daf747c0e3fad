/** The effects of applying a configuration: agents added, changed and removed, and what needs a restart. */
import { signal } from '@preact/signals'
import type { ConfigEffects } from '../../../api/admin.ts'
import { Icon } from '../../../components/icon.tsx'
import { StatusBadge, type StatusDisplay } from '../../../components/status/task-state.tsx'
import { describeEffects, type ConfigEffectText } from './effects.ts'
import { configStrings } from './strings.ts'

const looks: Readonly<Record<ConfigEffectText['id'], readonly [tone: StatusDisplay['tone'], shape: string]>> = {
  added: ['done', '+'],
  changed: ['working', '◐'],
  removed: ['failed', '−'],
  applied: ['done', '●'],
  restart: ['waiting', '◇'],
  none: ['ended', '–'],
}

export function EffectsList({ effects }: { readonly effects: ConfigEffects }) {
  return (
    <ul class="stack-small config-effects">
      {describeEffects(effects).map(({ id, word, names, text }) => (
        <li key={id}>
          <StatusBadge tone={looks[id][0]} shape={looks[id][1]} word={word} />
          <p>
            {names.map((name, index) => (
              <span key={name}>
                {index > 0 && ', '}
                <code>{name}</code>
              </span>
            ))}
            {names.length > 0 && ': '}
            <span class="soft">{text}</span>
          </p>
        </li>
      ))}
    </ul>
  )
}

const lastEffects = signal<ConfigEffects | undefined>(undefined)

export function setLastApplied(effects: ConfigEffects): void {
  lastEffects.value = effects
}

/** The effects of the last change, until dismissed; above all what needs a restart. */
export function LastApplied() {
  const effects = lastEffects.value
  if (effects === undefined) return null
  return (
    <section class="config-applied panel" aria-label={configStrings.effects.title}>
      <div class="grow">
        <h2>{configStrings.effects.title}</h2>
        <EffectsList effects={effects} />
      </div>
      <button
        type="button"
        class="plain icon"
        aria-label={configStrings.effects.dismiss}
        onClick={() => (lastEffects.value = undefined)}
      >
        <Icon name="close" />
      </button>
    </section>
  )
}
