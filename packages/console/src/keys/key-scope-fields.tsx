/** The scope of a key: all agents or selected ones; for a single agent, also its skills. */
import type { Agent } from '../api/admin.ts'
import type { KeyDraft } from './key-draft.ts'
import { CheckField } from '../components/form/form-fields.tsx'

interface KeyScopeFieldsProps {
  readonly agent: string | undefined
  readonly agents: readonly Agent[]
  readonly draft: KeyDraft
  set(change: Partial<KeyDraft>): void
}

export function KeyScopeFields({ agent, agents, draft, set }: KeyScopeFieldsProps) {
  const isAll = draft.agents.includes('*')
  const skills = agents.find(({ name }) => name === agent)?.skills ?? []
  return (
    <fieldset class="field">
      <legend>Access</legend>
      <div class="key-checks">
        {agent !== undefined && (
          <CheckField
            class="key-check"
            radioGroup="key-reach"
            checked={!isAll}
            onChange={() => set({ agents: [agent] })}
          >
            {agent}
          </CheckField>
        )}
        <CheckField
          class="key-check"
          radioGroup="key-reach"
          checked={isAll}
          onChange={() => set({ agents: ['*'], skills: [] })}
        >
          All agents
        </CheckField>
        {agent === undefined && (
          <CheckField class="key-check" radioGroup="key-reach" checked={!isAll} onChange={() => set({ agents: [] })}>
            Selected agents
          </CheckField>
        )}
      </div>
      {agent === undefined && !isAll && (
        <div class="key-checks key-inner" role="group" aria-label="Agents">
          {agents.map(({ name }) => (
            <CheckField
              key={name}
              class="key-check"
              checked={draft.agents.includes(name)}
              onChange={(isOn) => set({ agents: toggled(draft.agents, name, isOn) })}
            >
              {name}
            </CheckField>
          ))}
        </div>
      )}
      {agent !== undefined && !isAll && skills.length > 1 && (
        <div class="key-checks key-inner" role="group" aria-label="Skills">
          <CheckField class="key-check" checked={draft.skills.length === 0} onChange={() => set({ skills: [] })}>
            All skills
          </CheckField>
          {skills.map(({ id, name }) => (
            <CheckField
              key={id}
              class="key-check"
              checked={draft.skills.includes(id)}
              onChange={(isOn) => set({ skills: toggled(draft.skills, id, isOn) })}
            >
              {name}
            </CheckField>
          ))}
        </div>
      )}
    </fieldset>
  )
}

export function toggled(all: readonly string[], one: string, isOn: boolean): readonly string[] {
  return isOn ? [...all, one] : all.filter((other) => other !== one)
}
