/** Tabs. The address holds the open tab, so each tab is a link. */
import './tabs.css'

export interface Tab {
  readonly id: string
  readonly label: string
  readonly href: string
  readonly count?: number | undefined
}

export function Tabs({
  tabs,
  open,
  label,
}: {
  readonly tabs: readonly Tab[]
  readonly open: string
  readonly label: string
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, label: name, href, count }) => (
        <a key={id} href={href} aria-current={id === open ? 'page' : undefined}>
          {name}
          {count !== undefined && <span class="faint">{count}</span>}
        </a>
      ))}
    </nav>
  )
}

/** A choice among a few options that is not part of the path. */
export function SegmentedControl<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, text: string])[]
  readonly onChange: (value: Value) => void
}) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([one, text]) => (
        <button key={one} type="button" class="small" aria-pressed={one === value} onClick={() => onChange(one)}>
          {text}
        </button>
      ))}
    </div>
  )
}
