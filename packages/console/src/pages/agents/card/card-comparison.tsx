/** Two cards side by side, with the names of the members that differ. */
import { JsonTreeView } from '../../../components/content/json-tree.tsx'
import type { CardDiff } from './card-diff.ts'

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
      <ul class="card-differences" aria-label="Differences">
        {isSame && <li class="soft">No differences</li>}
        <MemberNames heading={`Only in ${left.title}`} names={onlyLeft} />
        <MemberNames heading={`Only in ${right.title}`} names={onlyRight} />
        <MemberNames heading="Different" names={otherwise} />
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
