/** Two cards side by side, with the names of the members that differ. */
import { JsonTreeView } from '../../../components/content/json-tree.tsx'
import { agentsStrings } from '../strings.ts'
import type { CardDiff } from './card-diff.ts'

const words = agentsStrings.card

export type CardJson = Readonly<Record<string, unknown>>

interface ComparedCard {
  readonly title: string
  readonly card: CardJson
}

export function CardComparison({
  left,
  right,
  diff,
}: {
  readonly left: ComparedCard
  readonly right: ComparedCard
  readonly diff: CardDiff
}) {
  const { onlyLeft, onlyRight, changed: otherwise } = diff
  const isSame = onlyLeft.length + onlyRight.length + otherwise.length === 0
  return (
    <>
      <ul class="card-differences" aria-label={words.differences}>
        {isSame && <li class="soft">{words.same}</li>}
        <MemberNames heading={words.onlyIn(left.title)} names={onlyLeft} />
        <MemberNames heading={words.onlyIn(right.title)} names={onlyRight} />
        <MemberNames heading={words.different} names={otherwise} />
      </ul>
      <div class="card-sides">
        {[
          { ...left, changed: diff.left },
          { ...right, changed: diff.right },
        ].map(({ title, card, changed }) => (
          <div key={title} class="stack-small card-side">
            <h4>{title}</h4>
            <div class="card-tree panel">
              <JsonTreeView value={card} open={3} changed={changed} />
            </div>
          </div>
        ))}
      </div>
    </>
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
