/** The effects of applying a configuration: agents added, changed and removed, and what needs a restart. */
import type { ConfigEffects } from '../../../api/admin.ts'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { describeEffects } from './effects.ts'
import type { ConfigEffectText } from './effects.ts'

const looks: Readonly<
  Record<ConfigEffectText['id'], readonly [tone: 'done' | 'working' | 'failed' | 'waiting' | 'ended', shape: string]>
> = {
  added: ['done', '+'],
  changed: ['working', '◐'],
  removed: ['failed', '−'],
  applied: ['done', '●'],
  restart: ['waiting', '◇'],
  none: ['ended', '–'],
}

export function EffectsList({ effects }: { readonly effects: ConfigEffects }) {
  return (
    <ul class="config-effects">
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
