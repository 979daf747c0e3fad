/** What an agent can, with examples that can be tried at once. */
import { useSignal } from '@preact/signals'
import { Icon } from '../../parts/icon.tsx'
import { playgroundPath } from './agent-path.ts'
import type { ReadSkill } from './card-reading.ts'
import './skills.css'
import './tags.css'

/** So many are shown at first: some agents have hundreds. */
const first = 12
const mostExamples = 6

export function Skills({ skills, agent }: { readonly skills: readonly ReadSkill[]; readonly agent: string }) {
  const isWhole = useSignal(false)
  const shown = isWhole.value ? skills : skills.slice(0, first)
  return (
    <>
      <ul class="skills">
        {shown.map((skill, index) => (
          <li key={`${skill.id} ${index}`} class="panel">
            <Skill skill={skill} agent={agent} />
          </li>
        ))}
      </ul>
      {shown.length < skills.length && (
        <button type="button" onClick={() => (isWhole.value = true)}>
          Show all {skills.length} skills
        </button>
      )}
    </>
  )
}

function Skill({ skill, agent }: { readonly skill: ReadSkill; readonly agent: string }) {
  const { id, name, description, tags, examples, modes } = skill
  return (
    <>
      <div class="skill-head">
        <h4 class="cut">{name}</h4>
        {id !== name && <code class="faint cut">{id}</code>}
      </div>
      {description !== '' && <p class="soft skill-about">{description}</p>}
      {tags.length > 0 && (
        <p class="agent-tags">
          {tags.map((tag, index) => (
            <a key={`${tag} ${index}`} class="agent-tag" href={`/agents?tag=${encodeURIComponent(tag)}`}>
              {tag}
            </a>
          ))}
        </p>
      )}
      {modes.length > 0 && <p class="hint skill-about">{modes.join(', ')}</p>}
      {examples.length > 0 && (
        <ul class="skill-examples" aria-label="Examples">
          {examples.slice(0, mostExamples).map((example, index) => (
            <li key={`${example.slice(0, 40)} ${index}`}>
              <a class="skill-example" href={playgroundPath(agent, example)} title="Open in the playground">
                <Icon name="play" size={12} />
                <span class="cut">{example}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
