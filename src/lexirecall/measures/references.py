"""Where the measures come from, by key. Belongs here: the bibliography, once."""

REFERENCES = {
    "BuckleyV04": "Buckley, Voorhees. Retrieval evaluation with incomplete information. SIGIR 2004.",
    "BuckleyV05": "Buckley, Voorhees. Retrieval system evaluation. In: TREC, MIT Press 2005.",
    "ChapelleMZG09": "Chapelle, Metzler, Zhang, Grinspan. Expected reciprocal rank for graded relevance. CIKM 2009.",
    "ClarkeKCVABM08": "Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher, MacKinnon. Novelty and diversity in "
    "information retrieval evaluation. SIGIR 2008.",
    "ClarkeVS21": "Clarke, Vtyurina, Smucker. Assessing top-k preferences. ACM TOIS 39(3), 2021.",
    "CohenHPY06": "Cohen, Hersh, Peterson, Yen. Reducing workload in systematic review preparation using automated "
    "citation classification. JAMIA 13(2), 2006.",
    "Cooper68": "Cooper. Expected search length: a single measure of retrieval effectiveness based on the weak "
    "ordering action of retrieval systems. American Documentation 19(1), 1968.",
    "CormackG14": "Cormack, Grossman. Evaluation of machine-learning protocols for technology-assisted review in "
    "electronic discovery. SIGIR 2014.",
    "CormackG16": "Cormack, Grossman. Engineering quality and reliability in technology-assisted review. SIGIR 2016.",
    "DiazEM25": "Diaz, Ekstrand, Mitra. Recall, robustness, and lexicographic evaluation. ACM TORS, 2025.",
    "DiazF22": "Diaz, Ferraro. Offline retrieval evaluation without evaluation metrics. SIGIR 2022.",
    "Diaz23": "Diaz. Best-case retrieval evaluation: improving the sensitivity of reciprocal rank with lexicographic "
    "precision. EVIA 2023.",
    "FerdinandsSBBOTTS23": "Ferdinands, Schram, de Bruin, Bagheri, Oberski, Tummers, Teijema, van de Schoot. "
    "Performance of active learning models for screening prioritization in systematic reviews: a simulation study into "
    "the Average Time to Discovery metric. Systematic Reviews 12, 2023.",
    "Harman92": "Harman. Evaluation issues in information retrieval. IP&M 28(4), 1992.",
    "JarvelinK02": "Järvelin, Kekäläinen. Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4), 2002.",
    "KantorV00": "Kantor, Voorhees. The TREC-5 confusion track. Information Retrieval 2(2/3), 2000.",
    "KusaLKH23": "Kusa, Lipani, Knoth, Hanbury. An analysis of work saved over sampling in the evaluation of automated "
    "citation screening in systematic literature reviews. Intelligent Systems with Applications 18, 2023.",
    "MacAvaneyMO22": "MacAvaney, Macdonald, Ounis. Streamlining evaluation with ir-measures. ECIR 2022.",
    "MoffatZ08": "Moffat, Zobel. Rank-biased precision for measurement of retrieval effectiveness. ACM TOIS 27(1), "
    "2008.",
    "Rijsbergen79": "van Rijsbergen. Information retrieval, 2nd edition. Butterworths 1979.",
    "Rocchio64": "Rocchio. Performance indices for document retrieval systems. Report ISR-8, Harvard 1964.",
    "VanDeSchoot21": "van de Schoot and others. An open source machine learning framework for efficient and "
    "transparent systematic reviews. Nature Machine Intelligence 3, 2021.",
    "WuWYZCY25": "Wu, Wang, Yu, Zhang, Chang, Yu. LongMemEval: benchmarking chat assistants on long-term interactive "
    "memory. ICLR 2025.",
    "YilmazA06": "Yilmaz, Aslam. Estimating average precision with incomplete and imperfect judgments. CIKM 2006.",
    "ZhaiCL03": "Zhai, Cohen, Lafferty. Beyond independent relevance: methods and evaluation metrics for subtopic "
    "retrieval. SIGIR 2003.",
    "ZouLK18": "Zou, Li, Kanoulas. Technology assisted reviews: finding the last few relevant documents by asking "
    "yes/no questions to reviewers. SIGIR 2018.",
}
