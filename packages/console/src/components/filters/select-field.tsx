/** A labelled drop-down. */

export interface SelectFieldProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string, ...unknown[]])[]
  readonly onChange: (value: string) => void
}

export function SelectField({ label, value, options, onChange }: SelectFieldProps) {
  // The address may hold a value that the list does not offer.
  const all = options.some(([one]) => one === value) ? options : [...options, [value, value] as const]
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {all.map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {text}
        </option>
      ))}
    </select>
  )
}
