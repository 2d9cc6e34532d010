export interface Place {
  country: string
  city: string
  /** City and country as in an address, in the script of the place. */
  local: string
  street: string
  legalForm: string
}

export const places: readonly Place[] = [
  {
    country: 'US',
    city: 'Austin, Texas',
    local: 'Austin, TX 78701, US',
    street: '500 Congress Ave',
    legalForm: 'Inc.',
  },
  {
    country: 'US',
    city: 'Columbus, Ohio',
    local: 'Columbus, OH 43215, US',
    street: '41 S High St',
    legalForm: 'LLC',
  },
  {
    country: 'DE',
    city: 'München, Bayern',
    local: '80331 München, DE',
    street: 'Sendlinger Straße 8',
    legalForm: 'GmbH',
  },
  {
    country: 'FR',
    city: 'Lyon',
    local: '69002 Lyon, FR',
    street: '12 rue de la République',
    legalForm: 'SAS',
  },
  {
    country: 'GB',
    city: 'Leeds, England',
    local: 'Leeds LS1 4DY, GB',
    street: '9 Park Row',
    legalForm: 'Ltd',
  },
  {
    country: 'JP',
    city: '大阪市',
    local: '大阪府大阪市北区, JP',
    street: '梅田2丁目4番9号',
    legalForm: '株式会社',
  },
  {
    country: 'KR',
    city: '서울',
    local: '서울특별시 강남구, KR',
    street: '테헤란로 152',
    legalForm: '주식회사',
  },
  {
    country: 'TW',
    city: '台北市',
    local: '台北市信義區, TW',
    street: '松高路 11 號',
    legalForm: '股份有限公司',
  },
  {
    country: 'IN',
    city: 'पुणे',
    local: 'पुणे, महाराष्ट्र 411001, IN',
    street: 'एमजी रोड 27',
    legalForm: 'Pvt Ltd',
  },
  {
    country: 'BR',
    city: 'São Paulo',
    local: 'São Paulo, SP 01310-100, BR',
    street: 'Avenida Paulista, 1578',
    legalForm: 'Ltda.',
  },
  { country: 'AE', city: 'دبي', local: 'دبي, AE', street: 'شارع الشيخ زايد', legalForm: 'ش.ذ.م.م' },
  {
    country: 'PL',
    city: 'Łódź',
    local: '90-361 Łódź, PL',
    street: 'ul. Piotrkowska 270',
    legalForm: 'sp. z o.o.',
  },
  { country: 'UA', city: 'Львів', local: '79000 Львів, UA', street: 'вул. Городоцька 36', legalForm: 'ТОВ' },
  {
    country: 'SG',
    city: 'Singapore',
    local: 'Singapore 048583, SG',
    street: '16 Raffles Quay',
    legalForm: 'Pte. Ltd.',
  },
  {
    country: 'SE',
    city: 'Göteborg',
    local: '411 06 Göteborg, SE',
    street: 'Drottninggatan 5',
    legalForm: 'AB',
  },
]
