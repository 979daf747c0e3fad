/** The skills of an agent, with examples to try. */
import { useSignal } from '@preact/signals'
import { Icon } from '../../../components/icon.tsx'
import { playgroundPath } from '../../../agent/agent-path.ts'
import type { ParsedSkill } from '../../../agent/parse-card.ts'

/** Skills shown at first: some agents have hundreds. */
const initialSkillCount = 12
const maxExamples = 6

export function SkillList({ skills, agent }: { readonly skills: readonly ParsedSkill[]; readonly agent: string }) {
  const isWhole = useSignal(false)
  const shown = isWhole.value ? skills : skills.slice(0, initialSkillCount)
  return (
    <>
      <ul class="skills">
        {shown.map((skill, index) => (
          <li key={`${skill.id} ${index}`} class="panel stack-small">
            <SkillItem skill={skill} agent={agent} />
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

function SkillItem({ skill, agent }: { readonly skill: ParsedSkill; readonly agent: string }) {
  const { id, name, description, tags, examples, modes } = skill
  return (
    <>
      <div class="line skill-head">
        <h4 class="cut">{name}</h4>
        {id !== name && <code class="faint cut">{id}</code>}
      </div>
      {description !== '' && <p class="soft clamp skill-about">{description}</p>}
      {tags.length > 0 && (
        <p class="agent-tags">
          {tags.map((tag, index) => (
            <a key={`${tag} ${index}`} class="agent-tag" href={`/agents?tag=${encodeURIComponent(tag)}`}>
              {tag}
            </a>
          ))}
        </p>
      )}
      {modes.length > 0 && <p class="hint clamp skill-about">{modes.join(', ')}</p>}
      {examples.length > 0 && (
        <ul class="stack-tight skill-examples" aria-label="Examples">
          {examples.slice(0, maxExamples).map((example, index) => (
            <li key={`${example.slice(0, 40)} ${index}`}>
              <a class="skill-example" href={playgroundPath(agent, example)} title="Open in playground">
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
