/** The card as clients of each version get it: alone or beside another. */
import type { AgentCards } from '../../../api/admin.ts'
import { query, setQuery } from '../../../app/router.ts'
import { SelectField } from '../../../components/form/form-fields.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { CardPayloads, type CardVariant } from './card-payloads.tsx'

/** All variants that can be shown and compared. */
function cardVariants({ cards, remote }: AgentCards): readonly CardVariant[] {
  const { merged, ...cardOf } = cards
  const named = (
    id: string,
    title: string,
    about: string,
    card: CardVariant['card'] | undefined,
  ): readonly CardVariant[] => (card === undefined ? [] : [{ id, title, about, card }])
  return [
    ...Object.entries(cardOf).flatMap(([version, card]) => named(version, version, `for clients of ${version}`, card)),
    ...named('merged', 'Merged', 'for clients that send no version', merged),
    ...named('own', 'Remote', 'as the remote agent serves it', remote?.changed?.card ?? remote?.approved?.card),
  ]
}

export function CardVersions({ cards, url }: { readonly cards: AgentCards; readonly url: string }) {
  const variants = cardVariants(cards)
  const shown = variants.find(({ id }) => id === query.value.get('version')) ?? variants[0]
  const others = variants.filter(({ id }) => id !== shown?.id)
  const compared = query.value.get('with')
  const other = compared === null ? others[0] : others.find(({ id }) => id === compared)
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
            options={[['none', 'None'], ...others.map(({ id, title }) => [id, title] as const)]}
            onChange={(id) => setQuery({ with: id })}
          />
        </label>
      </div>
      <CardPayloads cards={other === undefined ? [shown] : [shown, other]} url={url} />
    </section>
  )
}
