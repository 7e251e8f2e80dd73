const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** `< 0.1 s`, `0.4 s`, `12 s`, `3 min 5 s` or `1 h 20 min`. */
export function durationText(seconds: number): string {
  if (seconds < 0.05) return '< 0.1 s'
  if (seconds < 10) return `${number.format(seconds)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)]
  if (hours > 0) return `${hours} h ${minutes} min`
  return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`
}
