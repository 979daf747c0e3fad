/** Before the first word: who this is, and what one may ask. */
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { Empty } from '../../parts/trouble.tsx'
import { hrefOf } from './where.ts'

const mostExamples = 4

export function Greeting({ agent }: { readonly agent: string }) {
  const card = useResource(agent, (signal) => call('getAgentCards', { params: { agent }, signal }))
  const { name, description, examples } = cardIn(card.value.value?.cards['1.0'])
  return (
    <Empty title={name ?? agent}>
      {description !== undefined && <p dir="auto">{description}</p>}
      {examples.length > 0 && (
        <ul class="greeting" aria-label="Examples">
          {examples.map((text) => (
            <li key={text}>
              <a class="button" href={hrefOf(agent, { text })}>
                <span class="cut" dir="auto">
                  {text}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {card.problem.value !== undefined && <p class="mistake">{card.problem.value.message}</p>}
    </Empty>
  )
}

/** A card says what it likes: only words are taken from it. */
function cardIn(card: Readonly<Record<string, unknown>> = {}) {
  const skills = Array.isArray(card['skills']) ? (card['skills'] as readonly unknown[]) : []
  const examples = skills.flatMap((skill) => {
    const listed = (skill as { readonly examples?: unknown } | null)?.examples
    return Array.isArray(listed) ? listed.filter((one): one is string => typeof one === 'string') : []
  })
  return {
    name: wordOf(card['name']),
    description: wordOf(card['description']),
    examples: [...new Set(examples)].slice(0, mostExamples),
  }
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
