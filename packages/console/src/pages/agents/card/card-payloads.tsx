/** One card, or two side by side with the names of the members that differ. */
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { PayloadColumns } from '../../../components/protocol/payload-view.tsx'
import { differingMembers } from '../../../components/protocol/payload-diff.ts'

export interface CardVariant {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly card: Readonly<Record<string, unknown>>
}

export interface CardPayloadsProps {
  readonly cards: readonly CardVariant[]
  /** Where cards of a version are fetched. */
  readonly url?: string
}

export function CardPayloads({ cards, url }: CardPayloadsProps) {
  const [left, right] = cards
  return (
    <>
      {left !== undefined && right !== undefined && <Differences left={left} right={right} />}
      <div class="panel">
        <PayloadColumns
          open={3}
          payloads={cards.map(({ id, title, about, card }) => ({
            name: id,
            title,
            label: `The card ${about}`,
            about: `the card ${about}`,
            value: card,
            text: JSON.stringify(card, null, 2),
            children: url !== undefined && /^\d/.test(id) && (
              <CodeBlock text={`curl -H 'A2A-Version: ${id}' '${url}'`} label="the command that fetches it" />
            ),
          }))}
        />
      </div>
    </>
  )
}

function Differences({ left, right }: { readonly left: CardVariant; readonly right: CardVariant }) {
  const { onlyLeft, onlyRight, changed } = differingMembers(left.card, right.card)
  return (
    <ul class="card-differences" aria-label="Differences">
      {onlyLeft.length + onlyRight.length + changed.length === 0 && <li class="soft">No differences</li>}
      <MemberNames heading={`Only in ${left.title}`} names={onlyLeft} />
      <MemberNames heading={`Only in ${right.title}`} names={onlyRight} />
      <MemberNames heading="Different" names={changed} />
    </ul>
  )
}

function MemberNames({ heading, names }: { readonly heading: string; readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <li>
      <span class="soft">{heading}</span>
      {names.map((name) => (
        <code key={name} class="cut">
          {name}
        </code>
      ))}
    </li>
  )
}
