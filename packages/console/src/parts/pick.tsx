/** One of several, from a list that unfolds. */

export interface PickProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string, ...unknown[]])[]
  readonly onChange: (value: string) => void
}

export function Pick({ label, value, options, onChange }: PickProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {text}
        </option>
      ))}
    </select>
  )
}
