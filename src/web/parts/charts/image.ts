/** Saves a chart as an image: the drawing itself, with the colors and fonts that it has on the page. */

/** The styles that a drawing has from the page's stylesheet. */
const STYLES = [
  ...['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin'],
  ...['opacity', 'font-family', 'font-size', 'font-weight', 'font-variant-numeric'],
]

/** Around the drawing. */
const MARGIN_PX = 16
const TITLE_PX = 32
const LEGEND_LINE_PX = 20

/** Sharp on paper and on dense screens. */
const SCALE = 2

const SVG = 'http://www.w3.org/2000/svg'

export interface ChartImage {
  svg: SVGSVGElement
  title: string
  /** The names and colors of the series; none if there is one only. */
  legend: readonly { label: string; color: string }[]
}

function styled(original: Element, copy: Element): void {
  const style = getComputedStyle(original)
  for (const name of STYLES) copy.setAttribute(name, style.getPropertyValue(name))
  copy.removeAttribute('class')
  copy.removeAttribute('style')
  for (const [at, child] of [...original.children].entries()) styled(child, copy.children[at]!)
}

function textAt(text: string, { x, y, size, color }: { x: number; y: number; size: number; color: string }): Element {
  const element = document.createElementNS(SVG, 'text')
  for (const [name, value] of Object.entries({ x, y, 'font-size': size, fill: color, 'font-family': 'sans-serif' }))
    element.setAttribute(name, String(value))
  element.textContent = text
  return element
}

/** A drawing that needs nothing of the page: its title, the chart and the legend below it. */
function standalone({ svg, title, legend }: ChartImage): { element: SVGSVGElement; width: number; height: number } {
  const [width, chartHeight] = [svg.width.baseVal.value + 2 * MARGIN_PX, svg.height.baseVal.value]
  const height = chartHeight + TITLE_PX + 2 * MARGIN_PX + legend.length * LEGEND_LINE_PX
  const page = getComputedStyle(document.body)
  const element = document.createElementNS(SVG, 'svg')
  const size = { width, height, viewBox: `0 0 ${width} ${height}`, xmlns: SVG }
  for (const [name, value] of Object.entries(size)) element.setAttribute(name, String(value))
  const background = document.createElementNS(SVG, 'rect')
  for (const [name, value] of Object.entries({ width, height, fill: page.backgroundColor }))
    background.setAttribute(name, String(value))
  const chart = document.createElementNS(SVG, 'g')
  chart.setAttribute('transform', `translate(${MARGIN_PX} ${MARGIN_PX + TITLE_PX})`)
  for (const child of svg.children) {
    const copy = child.cloneNode(true) as Element
    styled(child, copy)
    chart.append(copy)
  }
  element.append(background, textAt(title, { x: MARGIN_PX, y: MARGIN_PX + 16, size: 16, color: page.color }), chart)
  for (const [at, { label, color }] of legend.entries()) {
    const y = MARGIN_PX + TITLE_PX + chartHeight + (at + 1) * LEGEND_LINE_PX
    const dot = document.createElementNS(SVG, 'circle')
    // A computed style, since the file knows no variables of the page.
    const probe = document.createElement('span')
    probe.style.color = color
    document.body.append(probe)
    const known = getComputedStyle(probe).color
    probe.remove()
    for (const [name, value] of Object.entries({ cx: MARGIN_PX + 5, cy: y - 4, r: 5, fill: known }))
      dot.setAttribute(name, String(value))
    element.append(dot, textAt(label, { x: MARGIN_PX + 18, y, size: 13, color: page.color }))
  }
  return { element, width, height }
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Some browsers start the download only after the event.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

const textOf = (element: SVGSVGElement) => new XMLSerializer().serializeToString(element)
const fileName = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')

export function saveSvg(image: ChartImage): void {
  save(new Blob([textOf(standalone(image).element)], { type: 'image/svg+xml' }), `${fileName(image.title)}.svg`)
}

/** Throws if the browser cannot draw it. */
export async function savePng(image: ChartImage): Promise<void> {
  const { element, width, height } = standalone(image)
  const picture = new Image()
  // The policy of the page allows images as data, not as blobs.
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(element))}`
  await picture.decode()
  const canvas = document.createElement('canvas')
  canvas.width = width * SCALE
  canvas.height = height * SCALE
  canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (!blob) throw new Error('The browser could not draw the image.')
  save(blob, `${fileName(image.title)}.png`)
}
