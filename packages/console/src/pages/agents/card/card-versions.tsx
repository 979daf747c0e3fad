/** The card as clients of each version get it: alone or beside another. */
import type { AgentCards } from '../../../api/admin.ts'
import { query, setQuery } from '../../../app/router.ts'
import { SelectField } from '../../../components/form/form-fields.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { CardPayloads, type CardVariant } from './card-payloads.tsx'

/** All variants that can be shown and compared. */
function cardVariants({ cards, remote }: AgentCards): readonly CardVariant[] {
  const named = (
    id: string,
    title: string,
    about: string,
    card: CardVariant['card'] | undefined,
  ): readonly CardVariant[] => (card === undefined ? [] : [{ id, title, about, card }])
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
  if (shown === undefined) return null
  return (
    <section class="stack-small agent-part">
      <h3>As clients see it</h3>
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
      </div>
      <CardPayloads cards={other === undefined ? [shown] : [shown, other]} url={url} />
    </section>
  )
}

function defaultComparison(shown: string | undefined): string {
  return shown === '1.0' ? '0.3' : '1.0'
}
