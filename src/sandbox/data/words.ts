export const industries = [
  'Software Development',
  'Industrial Machinery Manufacturing',
  'Financial Services',
  'Hospitals and Health Care',
  'Renewable Energy Power Generation',
  'Food & Beverage Services',
  'Truck Transportation',
  'Biotechnology Research',
  'Computer and Network Security',
  'Retail Apparel and Fashion',
  'Civil Engineering',
  'Higher Education',
] as const

export const companyTypes = [
  'Privately Held',
  'Public Company',
  'Partnership',
  'Nonprofit',
  'Self-Employed',
] as const

/** Smallest and largest head count of a size class, and its text. */
export const sizes = [
  [2, 10, '2-10 employees'],
  [11, 50, '11-50 employees'],
  [51, 200, '51-200 employees'],
  [201, 500, '201-500 employees'],
  [501, 1000, '501-1,000 employees'],
  [1001, 5000, '1,001-5,000 employees'],
  [5001, 10000, '5,001-10,000 employees'],
  [10001, 90000, '10,001+ employees'],
] as const

export const taglines = [
  'Built for the long run',
  'We keep it moving',
  'Simple tools for hard problems',
  '信頼をつなぐ',
  'L’énergie, autrement',
  'Better by design',
  'Wir machen das.',
  'From field to shelf',
] as const

export const companyNames = [
  '北風工業',
  '한빛소프트',
  'Світанок',
  'نور للتقنية',
  'Fjällström',
  'Peña & Hijos',
  '晨光科技',
  'Åkerlund',
] as const
export const personNames = [
  '佐藤 美咲',
  '김서준',
  'Олена Шевченко',
  'Zoë Müller',
  'محمد العلي',
  'José Peña',
  '陳怡君',
  'Siobhán O’Neill',
] as const

export const titles = [
  'Head of Sales',
  'Software Engineer',
  'VP Marketing',
  'Chief Financial Officer',
  'Plant Manager',
  'Data Analyst',
  'Leiterin Einkauf',
  'Responsable logistique',
  '営業部長',
  'Founder',
  'Account Executive',
  'HR Business Partner',
] as const

export const posts = [
  'We opened a second site this week.',
  'Three roles are open in our support team.',
  'Notes from the trade fair.',
  'Our annual report is out.',
  '新製品を発表しました。',
  'Merci à toute l’équipe pour cette année !',
] as const
