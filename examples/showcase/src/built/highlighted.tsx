/** TypeScript in colours: comments, texts, names of components and keywords. */
const TOKENS =
  /(\/\*[\s\S]*?\*\/|\/\/.*)|('[^'\n]*'|"[^"\n]*"|`[^`]*`)|(<\/?[A-Z]\w*|\/>)|\b(import|export|from|type|interface|const|function|return|new|undefined|string|void)\b/g
const KINDS = ['comment', 'text', 'tag', 'keyword']

export function Highlighted({ source }: { source: string }) {
  const pieces = []
  let end = 0
  for (const found of source.matchAll(TOKENS)) {
    const kind = KINDS[found.slice(1).findIndex((group) => group !== undefined)]
    pieces.push(
      source.slice(end, found.index),
      <span key={found.index} className={`code-${kind}`}>
        {found[0]}
      </span>,
    )
    end = found.index + found[0].length
  }
  return [...pieces, source.slice(end)]
}
