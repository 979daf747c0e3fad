/** The card as clients of each version get it: as a tree, as text, or beside another version. */
import type { AgentCards } from '../../../api/admin.ts'
import { query, setQuery } from '../../../app/router.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { JsonTreeView } from '../../../components/content/json-tree.tsx'
import { SelectField } from '../../../components/form/form-fields.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { diffCards } from './card-diff.ts'
import { type CardJson, CardComparison } from './card-comparison.tsx'

interface CardVariant {
  readonly id: string
  readonly title: string
  readonly about: string
  readonly card: CardJson
}

/** All variants that can be shown and compared. */
function cardVariants({ cards, remote }: AgentCards): readonly CardVariant[] {
  const named = (id: string, title: string, about: string, card: CardJson | undefined): readonly CardVariant[] =>
    card === undefined ? [] : [{ id, title, about, card }]
  return [
    ...named('1.0', '1.0', `for clients of 1.0`, cards['1.0']),
    ...named('0.3', '0.3', `for clients of 0.3`, cards['0.3']),
    ...named('0.2', '0.2', `for clients of 0.2`, cards['0.2']),
    ...named('merged', 'Merged', 'for clients that send no version', cards.merged),
    ...named('own', 'Remote', 'as the remote agent serves it', remote?.changed?.card ?? remote?.approved?.card),
  ]
}

export function CardVersions({ cards, url }: { readonly cards: AgentCards; readonly url: string }) {
  const variants = cardVariants(cards)
  const shown = variants.find(({ id }) => id === query.value.get('version')) ?? variants[0]
  const other = variants.find(
    ({ id }) => id === (query.value.get('with') ?? defaultComparison(shown?.id)) && id !== shown?.id,
  )
  const isRaw = query.value.get('as') === 'raw'
  if (shown === undefined) return null
  return (
    <section class="stack-small agent-part">
      <div class="row agent-part-head">
        <h3>As clients see it</h3>
        <CopyButton text={JSON.stringify(shown.card, null, 2)} label={`Copy the card ${shown.about}`} class="small">
          Copy JSON
        </CopyButton>
      </div>
      <div class="card-tools">
        <SegmentedControl
          label="Version"
          value={shown.id}
          options={variants.map(({ id, title }) => [id, title] as const)}
          onChange={(version) => setQuery({ version, with: undefined })}
        />
        <label class="card-with">
          Compare with{' '}
          <SelectField
            value={other?.id ?? 'none'}
            options={[
              ['none', 'None'],
              ...variants.filter(({ id }) => id !== shown.id).map(({ id, title }) => [id, title] as const),
            ]}
            onChange={(id) => setQuery({ with: id })}
          />
        </label>
        <SegmentedControl
          label="View"
          value={isRaw ? 'raw' : 'tree'}
          options={[
            ['tree', 'Tree'],
            ['raw', 'Raw'],
          ]}
          onChange={(as) => setQuery({ as: as === 'raw' ? 'raw' : undefined })}
        />
      </div>
      {isRaw ? (
        <RawCards variants={other === undefined ? [shown] : [shown, other]} url={url} />
      ) : other === undefined ? (
        <div class="card-tree panel">
          <JsonTreeView value={shown.card} open={3} />
        </div>
      ) : (
        <CardComparison left={shown} right={other} diff={diffCards(shown.card, other.card)} />
      )}
    </section>
  )
}

function defaultComparison(shown: string | undefined): string {
  return shown === '1.0' ? '0.3' : '1.0'
}

function RawCards({ variants, url }: { readonly variants: readonly CardVariant[]; readonly url: string }) {
  return (
    <div class="card-sides">
      {variants.map(({ id, title, about, card }) => (
        <div key={id} class="stack-small card-side">
          <h4>
            {title} <span class="faint">{about}</span>
          </h4>
          <CodeBlock text={JSON.stringify(card, null, 2)} label={`the card ${about}`} />
          {/^\d/.test(id) && (
            <CodeBlock text={`curl -H 'A2A-Version: ${id}' '${url}'`} label="the command that fetches it" />
          )}
        </div>
      ))}
    </div>
  )
}
