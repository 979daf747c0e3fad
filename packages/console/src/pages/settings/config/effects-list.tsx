/** What applying does, or has done: agents that come, change and go, and what waits for a restart. */
import type { ConfigEffects } from '../../../api/admin.ts'
import { Mark } from '../../../parts/state.tsx'
import { effectsIn } from './effects.ts'
import type { Effect } from './effects.ts'

const looks: Readonly<
  Record<Effect['id'], readonly [tone: 'done' | 'working' | 'failed' | 'waiting' | 'ended', shape: string]>
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
      {effectsIn(effects).map(({ id, word, names, text }) => (
        <li key={id}>
          <Mark tone={looks[id][0]} shape={looks[id][1]} word={word} />
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
